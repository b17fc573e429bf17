import { hearPrimary, tellPrimary } from '../core/processes/workers.ts';
import { type Bus, LocalDelivery } from './bus.ts';

/**
 * The bus of the workers of one primary, which passes notices on between them in order. The primary and its workers end
 * together, so a worker that runs hears all notices; one that does not read for long is told that it missed some.
 */
export function createWorkersBus(onError: (error: unknown) => void): Bus {
  const local = new LocalDelivery(onError);
  const gapHandlers = new Set<() => void>();
  const hear = (text: string) => {
    const { topic, message } = JSON.parse(text);
    local.deliver(topic, message);
  };
  const end = hearPrimary((told) => {
    if (told.parley === 'notice') hear(told.text);
    if (told.parley === 'gap') for (const handler of gapHandlers) handler();
  });
  const publish: Bus['publish'] = (topic, message) => {
    local.deliver(topic, message);
    tellPrimary({ parley: 'notice', text: JSON.stringify({ topic, message }) });
  };
  return {
    healthy: true,
    shared: true,
    publish,
    tell: async (topic, message) => publish(topic, message),
    announce: (topic, message) => local.deliver(topic, message),
    hear,
    subscribe: (topic, handler) => local.subscribe(topic, handler),
    onGap(handler) {
      gapHandlers.add(handler);
      return () => gapHandlers.delete(handler);
    },
    close: async () => end(),
  };
}
