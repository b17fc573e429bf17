import type { MessageBodyProperties } from '../types.ts';

export function MessageBody({ message }: MessageBodyProperties) {
  return <div style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{message.content}</div>;
}
