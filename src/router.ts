import { authRouter } from './auth/auth.router.ts';
import { channelsRouter } from './channels/channels.router.ts';
import { messagesRouter } from './channels/messages.router.ts';
import { reactionsRouter } from './channels/reactions.router.ts';
import { configsRouter } from './configs/configs.router.ts';
import { router } from './core/trpc.ts';
import { toolsRouter } from './tools/tools.router.ts';
import { usersRouter } from './users/users.router.ts';

/** Every operation of the service; all doors are made from it. */
export const appRouter = router({
  auths: authRouter,
  channels: channelsRouter,
  configs: configsRouter,
  messages: messagesRouter,
  reactions: reactionsRouter,
  tools: toolsRouter,
  users: usersRouter,
});

export type AppRouter = typeof appRouter;
