import { useMe } from '../api/session.ts';

export interface ToolRights {
  /** Make tools, and change the source of those that the person may change. */
  mayWrite: boolean;
  mayImport: boolean;
  mayExport: boolean;
  /** Load a source from an address. */
  mayLoad: boolean;
}

/** What the permissions of the person allow; the server checks each of them again. */
export function useToolRights(): ToolRights {
  const { role, permissions } = useMe();
  const isAdmin = role === 'admin';
  const may = (name: string) => isAdmin || permissions.workspace?.[name] === true;
  return {
    mayWrite: may('tools'),
    mayImport: may('tools') || may('tools_import'),
    mayExport: may('tools_export'),
    mayLoad: isAdmin,
  };
}
