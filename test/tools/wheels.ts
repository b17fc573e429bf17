import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { sharedEnvironment } from '../support/python.ts';

/** `[name, version, the text that its function `say` returns, its requirements]`. */
export type Package = [name: string, version: string, says: string, requires: string[]];

const MAKE_WHEELS = `
import json, sys, zipfile
folder, packages = sys.argv[1], json.loads(sys.argv[2])
for name, version, says, requires in packages:
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", f"def say(): return {says!r}\\n")
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {r}" for r in requires)]
        wheel.writestr(f"{info}/METADATA", "\\n".join(lines) + "\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
`;

export interface Wheels {
  folder: string;
  add(packages: Package[]): Promise<void>;
  close(): Promise<void>;
}

/** A folder of wheels; until it is closed, pip installs from this folder only. */
export async function offerWheels(packages: Package[]): Promise<Wheels> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-wheels-'));
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const add = async (more: Package[]) => {
    await promisify(execFile)(python, ['-c', MAKE_WHEELS, folder, JSON.stringify(more)]);
  };
  await add(packages);
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', folder);
  return {
    folder,
    add,
    async close() {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    },
  };
}

export interface Index {
  url: string;
  /** The number of requests for a wheel that wait for an answer. */
  waiting(): number;
  shut(): void;
  open(): void;
  close(): void;
}

/** Serves a folder of wheels to pip. While it is shut, requests for a wheel wait. */
export async function openIndex(folder: string): Promise<Index> {
  const waiting: (() => void)[] = [];
  let isShut = false;
  const answer = async (path: string, response: ServerResponse) => {
    const names = await readdir(folder);
    const name = names.find((one) => `/${one}` === path);
    if (name === undefined) response.end(names.map((one) => `<a href="/${one}">${one}</a>`).join('\n'));
    else response.end(await readFile(join(folder, name)));
  };
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', url.endsWith('.whl') ? 'application/zip' : 'text/html');
    if (isShut && url.endsWith('.whl')) waiting.push(() => void answer(url, response));
    else void answer(url, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  vi.stubEnv('PIP_FIND_LINKS', url);
  // A waiting pip must not repeat its request.
  vi.stubEnv('PIP_DEFAULT_TIMEOUT', '600');
  return {
    url,
    waiting: () => waiting.length,
    shut() {
      isShut = true;
    },
    open() {
      isShut = false;
      for (const serve of waiting.splice(0)) serve();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
