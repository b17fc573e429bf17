import type { SentFile } from '../types.ts';

interface Stored {
  id: string;
  filename: string;
  meta: { content_type?: string; size?: number };
}

/** Uploads one file. Rejects with the sentence of the server; null stands for no answer. */
export function upload(
  file: File,
  { onProgress, signal }: { onProgress(share: number): void; signal: AbortSignal },
): Promise<SentFile> {
  // `fetch` does not tell how much of a body is sent.
  const request = new XMLHttpRequest();
  const body = new FormData();
  body.append('file', file, file.name);
  request.responseType = 'json';
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(new Error(''));
    request.onload = () => {
      const answer = request.response as (Stored & { detail?: unknown }) | null;
      if (request.status >= 200 && request.status < 300 && answer) resolve(sentFile(answer, file));
      else reject(new Error(typeof answer?.detail === 'string' ? answer.detail : ''));
    };
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', '/api/v1/files');
    request.send(body);
  });
}

const sentFile = ({ id, filename, meta }: Stored, file: File): SentFile => ({
  id,
  name: filename,
  contentType: meta.content_type ?? file.type,
  size: meta.size ?? file.size,
});
