import { isParleyError } from '@parley/client';
import i18next from 'i18next';
import { notify } from './notify.ts';

/** The sentence of the server, or that there was no answer. */
export function sentenceOf(error: unknown): string {
  if (isParleyError(error)) return error.status === 0 ? i18next.t('common:error.unreachable') : error.detail;
  return error instanceof Error ? error.message : String(error);
}

/** Shows a failure beside the page, for actions without a form. */
export function showError(error: unknown): void {
  const message = sentenceOf(error);
  void notify({ id: message, message, color: 'red', autoClose: 8000 });
}

/** The problems of an input by the name of the field, for `form.setErrors`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!isParleyError(error)) return {};
  return Object.fromEntries(error.issues.map(({ path, message }) => [path, message]));
}
