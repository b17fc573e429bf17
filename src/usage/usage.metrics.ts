import { Counter } from 'prom-client';
import type { Tokens } from './usage.prices.ts';

const calls = new Counter({
  name: 'parley_model_calls_total',
  help: 'Turns of models and embeddings by how they ended: ok, cancelled, or the code of the error',
  labelNames: ['connection', 'outcome'],
});
const tokensUsed = new Counter({
  name: 'parley_model_tokens_total',
  help: 'Tokens of models: in, cached (of those in), out',
  labelNames: ['connection', 'kind'],
});

/** @param ended `connection`: null when none answered */
export function countCall({
  connection,
  outcome,
  tokens,
}: {
  connection: string | null;
  outcome: string;
  tokens: Tokens;
}): void {
  const name = connection ?? '';
  calls.inc({ connection: name, outcome });
  for (const kind of ['in', 'cached', 'out'] as const) {
    if (tokens[kind] > 0) tokensUsed.inc({ connection: name, kind }, tokens[kind]);
  }
}
