import { EmojiPicker as Picker } from 'frimousse';
import { useTranslation } from 'react-i18next';
import { pickerData } from './data.ts';
import classes from './EmojiPicker.module.css';

interface Properties {
  /** Called with the emoji itself, such as `👍`. */
  onPick(emoji: string): void;
}

/** Chooses an emoji by name or from the list. Loaded when it is opened. */
export function EmojiPicker({ onPick }: Properties) {
  const { t, i18n } = useTranslation();
  return (
    <Picker.Root
      className={classes.root}
      locale={i18n.language}
      resolveEmojiData={pickerData}
      columns={9}
      onEmojiSelect={({ emoji }) => onPick(emoji)}
    >
      <div className={classes.head}>
        <Picker.Search
          className={classes.search}
          autoFocus
          aria-label={t('emoji.search')}
          placeholder={t('emoji.search')}
        />
        <Picker.SkinToneSelector className={classes.tone} aria-label={t('emoji.tone')} />
      </div>
      <Picker.Viewport className={classes.viewport}>
        <Picker.Loading className={classes.note}>{t('loading')}</Picker.Loading>
        <Picker.Empty className={classes.note}>{t('emoji.none')}</Picker.Empty>
        <Picker.List
          className={classes.list}
          // The library counts rows and columns from 0, ARIA from 1; it finds rows by its own number.
          components={{
            CategoryHeader: ({ category, ...rest }) => (
              <div className={classes.category} {...rest}>
                {category.label}
              </div>
            ),
            Row: ({ children, 'aria-rowindex': row, ...rest }) => (
              <div className={classes.row} {...rest} {...(row && { 'aria-rowindex': row })}>
                {children}
              </div>
            ),
            Emoji: ({ emoji, 'aria-colindex': column = 0, ...rest }) => (
              <button type="button" className={classes.emoji} {...rest} {...{ 'aria-colindex': column + 1 }}>
                {emoji.emoji}
              </button>
            ),
          }}
        />
      </Picker.Viewport>
    </Picker.Root>
  );
}

export default EmojiPicker;
