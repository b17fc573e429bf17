import { Encoder, type Packet, PacketType } from 'socket.io-parser';
import { isTold } from '../../events/streams.ts';

/** The protocol's own encoder, except that it takes the serialised text of an event instead of writing it again. */
export class SharingEncoder extends Encoder {
  override encode(packet: Packet): (string | Buffer)[] {
    const isPlain = packet.type === PacketType.EVENT && packet.id === undefined && packet.nsp === '/';
    const [name, told] = isPlain && Array.isArray(packet.data) ? packet.data : [];
    if (!isTold(told)) return super.encode(packet);
    return [`${PacketType.EVENT}[${JSON.stringify(name)},${told.text}]`];
  }
}
