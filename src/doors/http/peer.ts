import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** The users that processes of tools run as where the server is root (`python/host/walls/confine.py`). */
const TOOL_USERS = { first: 60_706, last: 61_183 };

/** Linux lists all connections of the network namespace here, with the user of each. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Of a row: the ports of both ends and the user, who comes after the state and the four members of queues and timers. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) (?:\S+ +){4}(\d+) /gm;

const answers = new WeakMap<Socket, Promise<boolean>>();

/**
 * Whether the program at the other end of a connection from this machine may be a tool: it runs as a user of tools, or as the
 * server's own user where tools have no other. True also when the system does not say. Reading the table takes some milliseconds
 * of CPU, so this is for attempts to sign in, not for every request.
 */
export function mayBeTool(socket: Socket): Promise<boolean> {
  const known = answers.get(socket) ?? look(socket);
  answers.set(socket, known);
  return known;
}

async function look({ remotePort, localPort }: Socket): Promise<boolean> {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  const rows = tables.flatMap((table) => [...table.matchAll(ROW)]);
  const users = rows
    .filter(([, own = '', other = '']) => parse(own) === remotePort && parse(other) === localPort)
    .map(([, , , user]) => Number(user));
  return users.length === 0 || users.some(isOfTools);
}

const parse = (hexadecimal: string) => Number.parseInt(hexadecimal, 16);

function isOfTools(user: number): boolean {
  const own = process.geteuid?.() ?? 0;
  return own === 0 ? user >= TOOL_USERS.first && user <= TOOL_USERS.last : user === own;
}
