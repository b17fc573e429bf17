import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { childOptions, ready } from '../support/childSide.ts';
import { type Captured, CHANNEL, FRESH } from '../support/database.ts';

export interface SqlBaseline {
  databaseUrl: string;
  /**
   * Sent one after the other for each request, as named prepared statements. In their values, `CHANNEL` is
   * replaced by the channel in the path, and `FRESH` by a new UUID.
   */
  statements: Captured[];
}

const { databaseUrl, statements } = childOptions<SqlBaseline>();
const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });

const valuesFor = ({ values }: Captured, channelId: string): unknown[] =>
  values.map((value) =>
    typeof value === 'string' ? value.replace(FRESH, () => uuidv7()).replace(CHANNEL, channelId) : value,
  );

/** Reads the body like a bare server, then runs the statements. */
async function answer(body: AsyncIterable<Buffer>, channelId: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString());
  const answers: Record<string, unknown>[][] = [];
  for (const statement of statements) {
    const { name, text } = statement;
    const { rows } = await pool.query({ name, text, values: valuesFor(statement, channelId) });
    answers.push(rows);
  }
  return JSON.stringify(answers);
}

const server = createServer((request, response) => {
  answer(request, request.url?.slice(1) ?? '').then(
    (body) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    },
    (error) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
