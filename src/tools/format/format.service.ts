import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';

const TIMEOUT_MS = 10_000;

/**
 * Runs in a tool process, with the limits of tools: a parser may take any time and memory for untrusted text.
 */
const FORMATTER = {
  // No tool has an id with a space.
  id: 'code formatter',
  content: `import ast
import black
class Tools:
    def format(self, code: str) -> dict:
        try:
            ast.parse(code)
            return {"code": black.format_str(code, mode=black.Mode())}
        except SyntaxError as error:
            return {"line": error.lineno or 1, "problem": error.msg}
        except (black.InvalidInput, ValueError, RecursionError) as error:
            return {"line": None, "problem": str(error).partition("\\n")[0]}
`,
};

const Formatted = z.union([
  z.object({ code: z.string() }),
  z.object({ line: z.int().nullable(), problem: z.string() }),
]);

/**
 * Formats Python code with Black.
 *
 * @throws bad_request with the line that is not Python, tool_timeout, rate_limited, python_unavailable
 */
export async function formatCode({ python, actor, signal }: Scope, code: string): Promise<{ code: string }> {
  const { id, name, email, role } = actor;
  const answer = await python.call({
    tool: FORMATTER,
    function: 'format',
    arguments: { code },
    user: { id, name, email, role },
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const formatted = Formatted.parse(JSON.parse(answer.result));
  if ('code' in formatted) return formatted;
  const { line, problem } = formatted;
  const message = line === null ? problem : `line ${line}: ${problem}`;
  throw new AppError('bad_request', {
    detail: `The code is not valid Python: ${message}.`,
    issues: [{ path: 'code', message }],
  });
}
