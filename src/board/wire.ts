/** The body of an error in the shape of OpenAI's API. */
export const errorBody = (
  message: string,
  type: string,
  code: string | null,
  param: string | null = null,
) => ({
  error: { message, type, param, code },
});

/** The id of the model, at every door. */
export const MODEL_ID = 'smollm2-135m';

/**
 * How many tokens the model sees, with its answer. It was trained on 8,192. Each takes 23 KB of memory as long as the process runs, and
 * reading so many takes 12 s already.
 */
export const CONTEXT_TOKENS = 2048;
