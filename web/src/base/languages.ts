import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

/**
 * The words of the page: a folder for each language in `languages/`, a file for each area. A language needs not have all files
 * and words: English stands in for the rest.
 */
const files = import.meta.glob<{ default: Record<string, unknown> }>('../../languages/*/*.json');

const pathOf = (language: string, area: string) => `../../languages/${language}/${area}.json`;

/** The languages that the page has, `en` first. */
export const languages: string[] = [
  'en',
  ...[...new Set(Object.keys(files).map((path) => path.split('/').at(-2) ?? ''))].filter(
    (name) => name !== 'en',
  ),
];

const KEY = 'parley.language';

/** The choice of this browser, then the languages of the browser, then that of the installation. */
export function chooseLanguage(installation: string): string {
  const wished = [localStorage.getItem(KEY) ?? '', ...navigator.languages, installation];
  const known = wished.map((tag) => tag.slice(0, 2)).find((tag) => languages.includes(tag));
  return known ?? 'en';
}

export async function setLanguage(language: string): Promise<void> {
  localStorage.setItem(KEY, language);
  await i18next.changeLanguage(language);
}

i18next.on('languageChanged', (language) => {
  document.documentElement.lang = language;
});

/** Loads the words that every view needs; the others come with their views. */
export const startLanguages = (language: string): Promise<unknown> =>
  i18next
    .use({
      type: 'backend' as const,
      async read(tag: string, area: string) {
        return (await files[pathOf(tag, area)]?.())?.default ?? {};
      },
    })
    .use(initReactI18next)
    .init({
      lng: language,
      fallbackLng: 'en',
      supportedLngs: languages,
      // Those of a channel, so that its parts do not wait for them one after the other.
      ns: ['common', 'channels', 'messages', 'composer', 'replies'],
      defaultNS: 'common',
      interpolation: { escapeValue: false },
    });
