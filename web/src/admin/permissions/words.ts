import { useTranslation } from 'react-i18next';

/** A permission by its dotted name, with words where the page has them. */
export interface Permission {
  section: string;
  leaf: string;
  label: string;
  /** Undefined for a permission that this server enforces nowhere: other programs read it. */
  meaning: string | undefined;
}

export type Tree = Record<string, Record<string, boolean>>;

/** Describes all permissions of a tree. Words of a permission are `permission.<section>.<leaf>` in `admin.json`. */
export function usePermissions(tree: Tree): Permission[] {
  const { t, i18n } = useTranslation('admin');
  return Object.entries(tree).flatMap(([section, leaves]) =>
    Object.keys(leaves).map((leaf) => {
      const key = `permission.${section}.${leaf}`;
      return i18n.exists(`${key}.label`, { ns: 'admin' })
        ? { section, leaf, label: t(`${key}.label`), meaning: t(`${key}.meaning`) }
        : { section, leaf, label: `${section}.${leaf}`, meaning: undefined };
    }),
  );
}
