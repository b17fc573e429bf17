import { useMe } from '../api/session.ts';

export interface ModelRights {
  isAdmin: boolean;
  /** Make records of models, and change those that the person may change. */
  mayWrite: boolean;
  mayImport: boolean;
  mayExport: boolean;
}

/** What the permissions of the person allow; the server checks each of them again. */
export function useModelRights(): ModelRights {
  const { role, permissions } = useMe();
  const isAdmin = role === 'admin';
  const may = (name: string) => isAdmin || permissions.workspace?.[name] === true;
  return {
    isAdmin,
    mayWrite: may('models'),
    mayImport: may('models_import'),
    mayExport: may('models_export'),
  };
}
