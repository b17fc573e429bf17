import { once } from 'node:events';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { type Env, StartError } from '../../env.ts';

type Address = Pick<Env, 'HOST' | 'PORT'>;

/** Checks that the port is free, before the rest of the server is started in vain. @throws StartError */
export async function requirePort(env: Address): Promise<void> {
  const probe = createServer();
  await listen((at) => once(probe.listen(at), 'listening'), env);
  await promisify(probe.close.bind(probe))();
}

/** @throws StartError that tells the operator why the port cannot be used */
export async function listen(
  on: (at: { host: string; port: number }) => Promise<unknown>,
  { HOST: host, PORT: port }: Address,
): Promise<void> {
  try {
    await on({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartError(`Port ${port} is in use. Stop the other program, or set PORT.`, { cause });
    }
    throw new StartError(`Cannot listen on ${host}:${port} (${code}). Correct HOST and PORT.`, { cause });
  }
}
