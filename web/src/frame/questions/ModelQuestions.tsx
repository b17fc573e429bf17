import { isParleyError } from '@parley/client';
import { useEffect, useEffectEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { dropQuestion, type ModelQuestion, putAside, useAside } from '../../api/questions.ts';
import { showError } from '../../base/errors.ts';
import { dateOfSeconds, timeOfDay } from '../../base/time.ts';
import { QuestionDialog } from '../../ui/questions/QuestionDialog.tsx';
import { mayNotify } from '../notifications.ts';

/** Shows the questions of tools that models call for the person, one after the other, wherever the person is. */
export default function ModelQuestions({ questions }: { questions: ModelQuestion[] }) {
  const { t } = useTranslation('questions');
  const aside = useAside();
  const question = questions.find(({ id }) => !aside.has(id));
  useNotification(question);
  if (!question) return null;
  const { id, kind, title, message, placeholder, value, is_secret: isSecret } = question;
  const asked = t('asker', { tool: question.tool_id, model: question.model_name });
  const until = t('until', { time: timeOfDay(dateOfSeconds(question.ends_at)) });
  return (
    <QuestionDialog
      key={id}
      question={{ kind, title, message, placeholder, value, isSecret }}
      asker={question.tool_id}
      note={`${asked} ${until}`}
      onLater={() => putAside(id)}
      onAnswer={(answer) => send(question, answer as boolean | string)}
    />
  );
}

/** A notification of the browser while the window is away; several windows of one browser show it once. */
function useNotification(question: ModelQuestion | undefined): void {
  const { t } = useTranslation('questions');
  const id = question?.id;
  const show = useEffectEvent(() => {
    if (!question || document.hasFocus() || !mayNotify()) return;
    const { title, message, tool_id: name } = question;
    const notification = new Notification(title || t('title', { name }), { body: message, tag: question.id });
    notification.onclick = () => window.focus();
  });
  useEffect(() => {
    if (id) show();
  }, [id]);
}

async function send({ id, channel_id, message_id }: ModelQuestion, answer: boolean | string): Promise<void> {
  try {
    await api.replies.answer.mutate({ id: channel_id, message_id, question_id: id, answer });
    dropQuestion(id);
  } catch (error) {
    showError(error);
    // 404: the tool waits no longer.
    if (isParleyError(error) && error.status === 404) dropQuestion(id);
    else throw error;
  }
}
