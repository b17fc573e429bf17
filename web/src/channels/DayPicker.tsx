import '@mantine/dates/styles.css';
import { DatePicker, DatesProvider } from '@mantine/dates';
import { useTranslation } from 'react-i18next';
import 'dayjs/locale/de';

/** A calendar; loaded when it is opened. */
export default function DayPicker({ onPick }: { onPick(ns: number): void }) {
  const { i18n } = useTranslation();
  return (
    <DatesProvider settings={{ locale: i18n.language }}>
      <DatePicker
        maxDate={new Date()}
        onChange={(day) => day && onPick(new Date(`${day}T00:00:00`).getTime() * 1e6)}
      />
    </DatesProvider>
  );
}
