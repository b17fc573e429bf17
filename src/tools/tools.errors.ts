import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  id_invalid: { status: 400, detail: 'An id may hold only ASCII letters, digits and underscores.' },
  tool_invalid: { status: 400, detail: 'The tool could not be loaded.' },
  valves_invalid: { status: 400, detail: 'The tool does not accept these valves.' },
  tool_forbidden: { status: 401, detail: 'You have no permission for this tool operation.' },
  tool_not_ready: { status: 409, detail: 'The packages that the tool asks for are not installed.' },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
