import type { Outputs } from '@parley/client';
import { api } from '../../api/client.ts';
import { readJson } from '../../base/files.ts';

export type Outcome = Outputs['toolImport']['file']['items'][number];

/** Larger imports go through the plain route, which takes 64 MiB. */
const MAX_CALL_CHARACTERS = 900_000;

/** The tools of an export: a list, or one tool alone. @throws Error for other files */
export async function readExport(file: File, refusal: string): Promise<unknown[]> {
  const content = await readJson(file);
  if (Array.isArray(content) && content.length > 0) return content;
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return [content];
  throw new Error(refusal);
}

/** Stores tools, or only tries each of them. */
export async function importTools(tools: unknown[], isTrial: boolean): Promise<Outcome[]> {
  const body = JSON.stringify({ tools, dry_run: isTrial });
  if (body.length <= MAX_CALL_CHARACTERS) {
    return (await api.toolImport.file.mutate({ tools, dry_run: isTrial })).items;
  }
  const response = await fetch('/api/v1/tools/import', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const answer = (await response.json()) as { items: Outcome[]; detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? response.statusText);
  return answer.items;
}
