import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

/** Where `notify` shows its messages. */
export default function Notices() {
  return <Notifications position="bottom-right" limit={3} transitionDuration={120} />;
}
