import { AppError, sentence } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import type { Scope } from '../../core/scope.ts';
import { mayCreate, prepareTool, storeTool } from '../tools.service.ts';
import { ExportedTool, type ToolImport, Unusable } from './import.schema.ts';

type Item = ToolImport['items'][number];

/** @throws tool_forbidden */
export function requireImporter(scope: Scope): void {
  if (!mayCreate(scope)) throw new AppError('tool_forbidden');
}

/**
 * Stores the tools of an export one after the other. The caller owns them, and they are not shared: grants
 * refer to people of the server that made the export. A tool that cannot be stored is reported with the
 * reason; the others are stored.
 *
 * @param isDryRun loads each tool and stores none
 * @throws tool_forbidden
 */
export async function importTools(
  scope: Scope,
  items: Iterable<unknown>,
  isDryRun: boolean,
): Promise<ToolImport> {
  requireImporter(scope);
  const answers: Item[] = [];
  const taken = new Set<string>();
  for (const item of items) {
    // A caller that has gone does not read the outcome of the rest.
    scope.signal?.throwIfAborted();
    const answer = await importTool(scope, item, { isDryRun, taken });
    if (answer.outcome !== 'refused' && answer.id !== null) taken.add(answer.id);
    answers.push(answer);
  }
  return { items: answers };
}

async function importTool(
  scope: Scope,
  item: unknown,
  { isDryRun, taken }: { isDryRun: boolean; taken: Set<string> },
): Promise<Item> {
  const parsed = ExportedTool.safeParse(item);
  if (!parsed.success) {
    const reason = describeIssues(parsed.error).slice(0, 1).map(sentence).join();
    return { ...Unusable.parse(item), outcome: 'refused', reason };
  }
  const { id, name, content, meta } = parsed.data;
  try {
    if (taken.has(id.toLowerCase())) throw new AppError('id_taken');
    const tool = await prepareTool(scope, { id, name, content, meta: meta ?? {} });
    if (!isDryRun) await storeTool(scope, tool, []);
    const outcome = isDryRun ? 'storable' : 'stored';
    return { id: tool.id, name, outcome, reason: null, warnings: tool.warnings };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { id, name, outcome: 'refused', reason: error.message };
  }
}
