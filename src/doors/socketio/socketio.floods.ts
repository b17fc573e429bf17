import type { EventEmitter } from 'node:events';
import { checkJsonText } from '../../core/json/incoming.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** How many packets of any kind a connection may send within a second; no real client sends more. */
const PACKETS_PER_SECOND = 500;
/** The same for their characters: the largest packet of a client holds its positions in a thousand channels. */
const CHARACTERS_PER_SECOND = 256 * 1024;
/** The most bytes of one packet, and of one request with several. */
export const MAX_PACKET_BYTES = 64 * 1024;

/** An Engine.IO connection. It emits `packet` for each packet before Socket.IO handles it. */
interface Sending extends EventEmitter {
  readonly readyState: string;
  /** Packets that wait for the transport. */
  readonly writeBuffer: readonly unknown[];
  write(message: string): unknown;
  close(discard: boolean): unknown;
}

/** The disconnect of a namespace. The client can mend a flood, so it must not come back by itself (`socketio.endings.ts`). */
const DISCONNECT = '1';

interface Packet {
  type: string;
  data?: unknown;
}

/** Whether a packet connects to the only namespace, which is written as `/` or omitted. */
const connects = ({ type, data }: Packet): boolean =>
  type === 'message' && typeof data === 'string' && /^0(?!\/[^,])/.test(data);

/** Whether the JSON of a packet may be parsed. */
function isParsable({ data }: Packet): boolean {
  try {
    if (typeof data === 'string') checkJsonText(data);
    return true;
  } catch {
    return false;
  }
}

/**
 * Closes a connection that sends too much. It checks each packet before Socket.IO does: until the first socket is admitted, Socket.IO
 * makes another one for each packet that connects, and one request without credentials can carry a hundred thousand.
 */
export function cutFloods(connection: Sending): void {
  let isConnected = false;
  let second = 0;
  let count = 0;
  let characters = 0;
  connection.on('packet', (packet: Packet) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      count = 0;
      characters = 0;
    }
    second = now;
    count += 1;
    characters += typeof packet.data === 'string' ? packet.data.length : 0;
    const isTooMuch = count > PACKETS_PER_SECOND || characters > CHARACTERS_PER_SECOND;
    const again = connects(packet) && isConnected;
    isConnected ||= connects(packet);
    if (!again && !isTooMuch && isParsable(packet)) return;
    if (connection.readyState === 'open') traffic.socketio.flooded += 1;
    connection.write(DISCONNECT);
    // A connection that is about to close takes no more packets; it is then cut without the disconnect.
    connection.close(connection.writeBuffer.length > 0);
  });
}
