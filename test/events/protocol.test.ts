import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { openDoor } from './door.ts';

/*
 * Engine.IO 4 and Socket.IO 5 packet by packet, without a client library: the answers of the door, and that
 * malformed input does not stop it. https://github.com/socketio/engine.io-protocol,
 * https://github.com/socketio/socket.io-protocol
 */

const server = await startServer();
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');
const base = `${server.url}/ws/socket.io/?EIO=4`;

/** A bare WebSocket with everything that it received. */
async function openSocket(query = '', at = base) {
  const socket = new WebSocket(`${at.replace('http', 'ws')}&transport=websocket${query}`);
  const packets: string[] = [];
  let ended: number | undefined;
  socket.on('message', (data) => packets.push(String(data)));
  socket.on('close', (code) => {
    ended = code;
  });
  await once(socket, 'open');
  return {
    socket,
    packets,
    get ended() {
      return ended;
    },
    send: (packet: string | Buffer) => socket.send(packet),
    next: (beginning: string) =>
      until(`a packet ${beginning}`, () => packets.find((packet) => packet.startsWith(beginning))),
  };
}
async function admitted(at = base) {
  const one = await openSocket('', at);
  one.send(`40${JSON.stringify({ token: owner.token, events: 'envelope' })}`);
  await one.next('40');
  return one;
}

const poll = async (sid?: string, init: RequestInit = {}) => {
  const response = await fetch(`${base}&transport=polling${sid ? `&sid=${sid}` : ''}`, init);
  return { status: response.status, text: await response.text() };
};
const send = (sid: string, body: string) =>
  poll(sid, { method: 'POST', body, headers: { 'content-type': 'text/plain' } });
const handshake = async () => JSON.parse((await poll()).text.slice(1)) as { sid: string; upgrades: string[] };
const isAlive = async () =>
  expect((await server.call('GET /auths/', { token: owner.token })).status).toBe(200);

async function createChannel(): Promise<string> {
  const options = { token: owner.token, body: { name: 'new' } };
  return (await server.call('POST /channels/create', options)).body.id;
}

describe('a handshake', () => {
  it('returns the session id and the times of the heartbeat', async () => {
    const one = await openSocket();
    const opened = JSON.parse((await one.next('0')).slice(1));
    expect(opened).toMatchObject({ upgrades: [], pingInterval: 25_000, pingTimeout: 20_000 });
    expect(typeof opened.sid).toBe('string');
    one.socket.close();
    expect((await handshake()).upgrades).toEqual(['websocket']);
  });

  it.each([
    ['another version', '?EIO=3&transport=polling', 5],
    ['no version', '?transport=polling', 5],
    ['an unknown transport', '?EIO=4&transport=carrier-pigeon', 0],
    ['an unknown session', '?EIO=4&transport=polling&sid=nobody', 1],
  ])('with %s is refused', async (_what, query, code) => {
    const response = await fetch(`${server.url}/ws/socket.io/${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code });
  });

  it('by another HTTP method is refused', async () => {
    const response = await fetch(`${base}&transport=polling`, { method: 'PUT' });
    expect(response.status).toBe(400);
  });
});

describe('a connection to the namespace', () => {
  it('with a token gets its own id', async () => {
    const one = await admitted();
    const connected = JSON.parse((await one.next('40')).slice(2));
    expect(typeof connected.sid).toBe('string');
    expect(connected.sid).not.toBe(JSON.parse((await one.next('0')).slice(1)).sid);
    one.socket.close();
  });

  it('with a wrong token is refused with a reason, also for another namespace', async () => {
    const one = await openSocket();
    one.send(`40${JSON.stringify({ token: 'wrong' })}`);
    expect(JSON.parse((await one.next('44')).slice(2))).toMatchObject({ data: { code: 'unauthenticated' } });
    one.send(`40/admin,${JSON.stringify({ token: owner.token })}`);
    expect(await one.next('44/admin,')).toContain('Invalid namespace');
    one.socket.close();
  });

  it('is acknowledged with the requested number', async () => {
    const one = await admitted();
    one.send(`4217["user-join",${JSON.stringify({ auth: { token: owner.token } })}]`);
    expect(await one.next('4317')).toBe(`4317[${JSON.stringify({ id: owner.id, name: 'Owner' })}]`);
    one.socket.close();
  });

  it('that is not made yet accepts no events, and one event closes it', async () => {
    const one = await openSocket();
    await one.next('0');
    one.send('421["heartbeat",{}]');
    await until('the end', () => one.ended !== undefined);
    expect(one.packets.filter((packet) => packet.startsWith('43'))).toEqual([]);
  });

  it('that is left receives nothing more, and the connection closes', async () => {
    const one = await admitted();
    const other = await admitted();
    one.send('41');
    await until('the end', () => one.ended !== undefined);
    const channel = await createChannel();
    await until('the other one to hear', () => other.packets.some((packet) => packet.includes(channel)));
    expect(one.packets.filter((packet) => packet.includes(channel))).toEqual([]);
    other.socket.close();
  });

  it('that is left without credentials leaves nothing behind', async () => {
    const one = await openSocket();
    one.send('40');
    await one.next('40');
    one.send('41');
    await until('the end', () => one.ended !== undefined);
  });

  it('accepts an event with attachments and answers it', async () => {
    const one = await admitted();
    one.send('452-9["heartbeat",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]');
    one.send(Buffer.from([1, 2, 3]));
    one.send(Buffer.from([4]));
    expect(await one.next('439')).toBe('439[]');
    one.socket.close();
  });
});

describe('a connection', () => {
  it('stays open while its pings are answered, and is closed otherwise', async () => {
    const door = await openDoor(server, { pings: { intervalMs: 100, timeoutMs: 5_000 } });
    const at = `${door.url}/ws/socket.io/?EIO=4`;
    const [silent, answering] = [await admitted(at), await admitted(at)];
    answering.socket.on('message', (data) => {
      if (String(data) === '2') answering.send('3');
    });
    // The first ping may have arrived already.
    if (answering.packets.includes('2')) answering.send('3');
    await until('the end of the silent one', () => silent.ended !== undefined);
    expect(silent.packets.filter((packet) => packet === '2')).toHaveLength(1);
    expect(answering.ended).toBeUndefined();
    expect(answering.packets.filter((packet) => packet === '2').length).toBeGreaterThan(1);
    answering.socket.close();
    await until('all listeners to be gone', () => door.listeners() === 0);
    await door.close();
  });
});

describe('a malformed packet', () => {
  it.each<[string, string | Buffer]>([
    ['an unknown Engine.IO type', '9'],
    ['an unknown Socket.IO type', '4x'],
    ['an event that is no array', '42{"a":1}'],
    ['an event without a name', '42[]'],
    ['an event with a reserved name', '42["disconnect"]'],
    ['broken JSON', '42["message",{'],
    ['a second connection packet', '40{}'],
    ['an acknowledgement without a request', '4399[]'],
    ['attachments that are never sent', '451-["message",{"_placeholder":true,"num":0}]'],
    ['too many attachments', '4599999999-["message",{"_placeholder":true,"num":0}]'],
    ['binary data without an announcement', Buffer.from([4, 1, 2, 3])],
    ['a placeholder out of range', '451-["message",{"_placeholder":true,"num":7}]'],
    ['an empty text', ''],
    ['more attachments than an event may have', '4511-["heartbeat",{"_placeholder":true,"num":0}]'],
    ['a text in place of an attachment', '451-["heartbeat",{"_placeholder":true,"num":0}]'],
    ['a ping from the client', '2'],
    ['an event of another namespace', '42/admin,["heartbeat",{}]'],
    ['a connection error from the client', '44{"message":"no"}'],
  ])('is ignored or closes its connection, and other connections stay: %s', async (_what, packet) => {
    const other = await admitted();
    const one = await admitted();
    one.send(packet);
    one.send('42["heartbeat",{}]');
    one.send('421["heartbeat",{}]');
    await until('an answer or the end', () => one.ended !== undefined || one.packets.includes('431[]'));
    other.send('425["heartbeat",{}]');
    expect(await other.next('435')).toBe('435[]');
    await isAlive();
    one.socket.terminate();
    other.socket.close();
  });

  it('that is too large closes the connection', async () => {
    const one = await admitted();
    one.send(`42["message","${'x'.repeat(64 * 1024)}"]`);
    await until('the end', () => one.ended !== undefined);
    const { sid } = await handshake();
    const { status } = await send(sid, `4${'x'.repeat(64 * 1024)}`);
    expect(status).toBe(413);
    await isAlive();
  });

  it('that is too large together with others closes the connection', async () => {
    const one = await admitted();
    for (let count = 0; count < 6; count += 1) one.send(`42["message","${'x'.repeat(60 * 1024)}"]`);
    await until('the end', () => one.ended !== undefined);
    await isAlive();
  });

  it('with more different members than the parser may learn closes the connection', async () => {
    const one = await openSocket();
    const names = Array.from({ length: 6_000 }, (_, n) => `"${n.toString(36)}":1`);
    one.send(`40{${names}}`);
    await until('the end', () => one.ended !== undefined);
    await isAlive();
  });
});

describe('polling', () => {
  it('carries packets in both directions, several in one body', async () => {
    const { sid } = await handshake();
    expect(await send(sid, `40${JSON.stringify({ token: owner.token })}`)).toEqual({
      status: 200,
      text: 'ok',
    });
    expect((await poll(sid)).text).toMatch(/^40\{"sid":/);
    await send(sid, '421["heartbeat",{}]\x1e422["heartbeat",{}]');
    let heard = '';
    await until('both answers', async () => {
      heard += (await poll(sid)).text;
      return heard.includes('431[]') && heard.includes('432[]');
    });
    expect((await send(sid, '1')).status).toBe(200);
    // Packets after the close are ignored.
    await until('the end', async () => (await send(sid, '2')).status === 400);
  });

  it('by two requests at once is refused, and the connection is closed', async () => {
    const { sid } = await handshake();
    const [one, two] = await Promise.all([poll(sid), poll(sid)]);
    expect([one.status, two.status].sort()).toContain(400);
    expect((await poll(sid)).status).toBe(400);
    await isAlive();
  });

  it('is upgraded to WebSocket after a probe', async () => {
    const { sid } = await handshake();
    await send(sid, `40${JSON.stringify({ token: owner.token, events: 'envelope' })}`);
    await poll(sid);
    const one = await openSocket(`&sid=${sid}`);
    one.send('2probe');
    expect(await one.next('3probe')).toBe('3probe');
    one.send('5');
    one.send('421["heartbeat",{}]');
    expect(await one.next('431')).toBe('431[]');
    expect((await poll(sid)).status).toBe(400);
    one.socket.close();
  });

  it('that waits during the upgrade is answered with an empty packet', async () => {
    const { sid } = await handshake();
    await send(sid, `40${JSON.stringify({ token: owner.token, events: 'envelope' })}`);
    await poll(sid);
    const waiting = poll(sid);
    const one = await openSocket(`&sid=${sid}`);
    one.send('2probe');
    await one.next('3probe');
    expect(await waiting).toEqual({ status: 200, text: '6' });
    one.send('5');
    one.send('421["heartbeat",{}]');
    expect(await one.next('431')).toBe('431[]');
    one.socket.close();
  });

  it('cannot be taken over without the session id', async () => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}&transport=websocket&sid=nobody`);
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('400');
  });
});
