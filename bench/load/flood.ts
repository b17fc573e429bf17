import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** The limit of the client's own send buffer, above which it waits. */
const AHEAD_BYTES = 1024 * 1024;

/**
 * Sends frames over one WebSocket endlessly, as fast as the server reads them, and reads all answers. A
 * socket that the server closes is opened again after a tenth of a second.
 *
 * @param frameAt the text of the frame with this number; each connection counts from 0
 * @returns when the first connection is open
 */
export function floodSocket(
  url: string,
  headers: Record<string, string>,
  frameAt: (number: number) => string,
): Promise<void> {
  return new Promise((resolve) => {
    void (async () => {
      for (;;) {
        await floodOnce(url, headers, frameAt, resolve);
        await delay(100);
      }
    })();
  });
}

async function floodOnce(
  url: string,
  headers: Record<string, string>,
  frameAt: (number: number) => string,
  onOpen: () => void,
): Promise<void> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  await new Promise<void>((resolve) => {
    socket.once('open', resolve).once('close', () => resolve());
    socket.on('error', () => {});
  });
  onOpen();
  for (let number = 1; socket.readyState === WebSocket.OPEN; ) {
    for (let batch = 0; batch < 500; batch += 1, number += 1) socket.send(frameAt(number));
    do await delay(1);
    while (socket.bufferedAmount > AHEAD_BYTES && socket.readyState === WebSocket.OPEN);
  }
}
