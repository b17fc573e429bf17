import { z } from 'zod';
import { administrator, router } from '../core/trpc/trpc.ts';
import { ConnectionView, TestInput, TestReport } from './providers.schema.ts';
import { testProvider } from './providers.trial.ts';

export const providersRouter = router({
  list: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/providers',
        tags: ['providers'],
        summary: 'List the connections to model providers with their states',
        description:
          'The connections of `hosted_model_api` and `local_model_server` that are switched on, as this process ' +
          'sees them. Keys and headers are not shown.',
      },
      access: 'administrator',
    })
    .input(z.object({}))
    .output(z.array(ConnectionView))
    .query(({ ctx }) => ctx.scope.providers.states()),

  test: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/providers/test',
        tags: ['providers'],
        summary: 'Try a connection to a model provider, step by step',
        description:
          'Looks the name up, connects, sends the key, asks for the list of models, and asks one model for a token. ' +
          'The configuration does not change. The first step that fails ends the test and says why; the answer is 200 ' +
          'in either case.',
      },
      access: 'administrator',
    })
    .input(TestInput)
    .output(TestReport)
    .mutation(({ ctx, input }) => testProvider(ctx.scope, input)),
});
