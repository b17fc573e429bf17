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
          components={{
            CategoryHeader: ({ category, ...rest }) => (
              <div className={classes.category} {...rest}>
                {category.label}
              </div>
            ),
            Row: ({ children, ...rest }) => (
              <div className={classes.row} {...rest}>
                {children}
              </div>
            ),
            Emoji: ({ emoji, ...rest }) => (
              <button type="button" className={classes.emoji} {...rest}>
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
