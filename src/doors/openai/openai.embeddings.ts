import { embed } from '../../completions/completions.service.ts';
import type { Exchange } from './openai.call.ts';
import type { EmbeddingBody } from './openai.schema.ts';

/**
 * `POST /embeddings`. The official clients ask for base64, which not every provider knows: providers are asked for numbers, and the text
 * is made here.
 */
export async function answerEmbeddings({
  scope,
  body,
  resolveModel,
  signal,
}: Exchange<EmbeddingBody>): Promise<unknown> {
  const { model: id, encoding_format, ...params } = body;
  const model = await resolveModel(id);
  const { data, usage } = await embed(scope, { model, params, signal });
  return {
    object: 'list',
    model: model.id,
    data:
      encoding_format === 'base64'
        ? data.map((one) => ({ ...one, embedding: toBase64(one.embedding) }))
        : data,
    usage,
  };
}

/** A connection may have an extra parameter by which its provider sends base64 already. */
const toBase64 = (embedding: readonly number[] | string) =>
  typeof embedding === 'string'
    ? embedding
    : Buffer.from(new Float32Array(embedding).buffer).toString('base64');
