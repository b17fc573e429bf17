import type { EventEmitter } from 'node:events';
import { checkJsonText } from '../../core/json/incoming.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** How many packets a connection may send within a second, whatever they are; more is no client. */
const PACKETS_PER_SECOND = 500;
/** The same for their characters: a client's largest packet names where it stands in each of a thousand channels. */
const CHARACTERS_PER_SECOND = 256 * 1024;
/** The most bytes of one packet, and of one request with several. */
export const MAX_PACKET_BYTES = 64 * 1024;

/** An Engine.IO connection; it emits `packet` for each that comes, before anything is done about it. */
interface Sending extends EventEmitter {
  readonly readyState: string;
  /** What waits for the transport. */
  readonly writeBuffer: readonly unknown[];
  write(message: string): unknown;
  close(discard: boolean): unknown;
}

/** A namespace's disconnect. The client can mend a flood, so it is not to come back by itself (`socketio.endings.ts`). */
const DISCONNECT = '1';

interface Packet {
  type: string;
  data?: unknown;
}

/** Whether a packet connects to the namespace that there is, which has no name, or `/`. */
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
 * Closes a connection that sends more than a client does. It is asked before Socket.IO sees the packet, which makes a socket of
 * each that connects while the first is not through, and one request can carry a hundred thousand: nobody has proved anything yet.
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
    // A connection that is about to close takes no more packets; one that cannot be told is cut.
    connection.close(connection.writeBuffer.length > 0);
  });
}
