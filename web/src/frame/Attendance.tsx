import { lazy, Suspense } from 'react';
import { useOpenQuestions, useQuestionsLive } from '../api/questions.ts';
import { useRightsLive } from '../api/rights.ts';
import { useChannelsLive } from '../channels/list/useChannelsLive.ts';
import { useShortcuts } from './commands/useShortcuts.ts';
import { useNotifications } from './notifications.ts';
import { Overlays } from './Overlays.tsx';
import { useReturningFocus } from './useReturningFocus.ts';

const ModelQuestions = lazy(() => import('./questions/ModelQuestions.tsx'));

/** What goes on beside each view: the counts of the list, notifications, keys, the focus, and what opens over the page. */
export function Attendance() {
  useChannelsLive();
  useNotifications();
  useShortcuts();
  useReturningFocus();
  useRightsLive();
  useQuestionsLive();
  const questions = useOpenQuestions();
  return (
    <>
      <Overlays />
      <Suspense>{questions.length > 0 && <ModelQuestions questions={questions} />}</Suspense>
    </>
  );
}
