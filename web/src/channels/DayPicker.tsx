import '@mantine/dates/styles.css';
import { DatePicker, DatesProvider } from '@mantine/dates';
import { useTranslation } from 'react-i18next';
import 'dayjs/locale/de';

/** A calendar; loaded when it is opened. */
export default function DayPicker({ onPick }: { onPick(ns: number): void }) {
  const { t, i18n } = useTranslation('messages');
  return (
    <DatesProvider settings={{ locale: i18n.language }}>
      <DatePicker
        maxDate={new Date()}
        hideOutsideDates
        ariaLabels={{
          previousMonth: t('date.previousMonth'),
          nextMonth: t('date.nextMonth'),
          previousYear: t('date.previousYear'),
          nextYear: t('date.nextYear'),
          previousDecade: t('date.previousYears'),
          nextDecade: t('date.nextYears'),
        }}
        onChange={(day) => day && onPick(new Date(`${day}T00:00:00`).getTime() * 1e6)}
      />
    </DatesProvider>
  );
}
