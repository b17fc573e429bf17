import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { sharedEnvironment } from '../support/python.ts';

/** `[name, version, what its function `say` says, what it requires]`. */
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

/** A folder of wheels that pip takes packages from, and from nowhere else, until it is closed. */
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
