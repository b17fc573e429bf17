import { isObject } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import { isShowable } from '../files/attachments.ts';
import type { FileView } from '../files/files.schema.ts';
import { callTool } from '../tools/calls/call.service.ts';
import { readableTools } from '../tools/tools.access.ts';
import type { SourceCall, ToolSource } from './tool.source.ts';

/** The Python tools that are stored here. */
export const pythonTools: ToolSource = {
  async list(scope, ids) {
    const tools = await readableTools(scope, ids);
    return tools.map(({ id, specs }) => ({ id, functions: specs }));
  },
  // Of `POST /tools/id/{id}/call`.
  reach: (id) => [['api', 'tools', 'id', id, 'call']],
  async call(scope, call) {
    const { result } = await callTool(scope, {
      id: call.toolId,
      function: call.function,
      arguments: call.arguments,
      context: call.context,
      onEvent: (event) => report(scope, event, call),
      onAsk: call.onAsk,
      onUpload: (file) => call.onFile(attachmentOf(file)),
      signal: call.signal,
    });
    return textOf(result);
  },
};

/** A text as it is, anything else as JSON. @param result JSON */
function textOf(result: string): string {
  return result.startsWith('"') ? String(JSON.parse(result)) : result;
}

/**
 * Events of a function that say how far it is, or that bring files. All others are for the browser of a person: a model has none, and an
 * event that runs code there is never passed on.
 */
function report(scope: Scope, json: string, { onStatus, onFile }: SourceCall): void {
  const event: unknown = JSON.parse(json);
  if (!isObject(event) || !isObject(event.data)) return;
  const { type, data } = event;
  if (type === 'status' && typeof data.description === 'string' && data.hidden !== true) {
    onStatus(data.description);
  }
  if ((type === 'files' || type === 'chat:message:files') && Array.isArray(data.files)) {
    for (const file of data.files) if (isShowable(scope, file)) onFile(file);
  }
}

const attachmentOf = ({ id, filename, meta }: FileView) => ({
  type: meta.content_type.startsWith('image/') ? 'image' : 'file',
  id,
  name: filename,
  url: `/api/v1/files/${id}/content`,
  content_type: meta.content_type,
  size: meta.size,
});
