import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Env } from '../env.ts';

/** The sampler of the environment. @returns `root` decides for calls whose caller is not trusted to decide */
export function samplerOf(env: Pick<Env, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>): {
  sampler: Sampler;
  root: Sampler;
} {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = env;
  const root = rootOf(name.replace('parentbased_', ''), ratio);
  return { root, sampler: name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root };
}

function rootOf(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'always_on' ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio);
}
