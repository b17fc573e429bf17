import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { ready } from '../support/childSide.ts';

/** The same function in a bare Python process that answers one line of JSON with another. */
const SOURCE = `
import json, sys

def add(a, b):
    return a + b

for line in sys.stdin:
    print(json.dumps({"result": add(**json.loads(line)["arguments"])}), flush=True)
`;

const python = spawn(process.env.PYTHON ?? 'python3', ['-c', SOURCE], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting: ((line: string) => void)[] = [];
createInterface(python.stdout).on('line', (line) => waiting.shift()?.(line));

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = new Promise<string>((resolve) => waiting.push(resolve));
  python.stdin.write(`${JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))}\n`);
  response.end(await answer);
});
server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
