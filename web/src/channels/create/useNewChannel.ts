import type { Channel, Inputs } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';

export interface FormProperties {
  onDone(channel: Channel): Promise<void>;
  onCancel(): void;
}

/** Creates the channel; the form shows why it cannot be created. */
export function useNewChannel(onDone: FormProperties['onDone']) {
  const create = useMutation(
    trpc.channels.create.mutationOptions({ meta: { showsError: true }, onSuccess: onDone }),
  );
  return {
    create: (input: Inputs['channels']['create']) => create.mutate(input),
    error: create.error,
    isBusy: create.isPending,
  };
}
