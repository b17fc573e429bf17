import { Encoder, type Packet, PacketType } from 'socket.io-parser';
import { isTold } from '../../events/streams.ts';

/** The protocol's own encoder, but the payload of an event is the text that is there already. */
export class SharingEncoder extends Encoder {
  override encode(packet: Packet): (string | Buffer)[] {
    const isPlain = packet.type === PacketType.EVENT && packet.id === undefined && packet.nsp === '/';
    const [name, told] = isPlain && Array.isArray(packet.data) ? packet.data : [];
    if (!isTold(told)) return super.encode(packet);
    return [`${PacketType.EVENT}[${JSON.stringify(name)},${told.text}]`];
  }
}
