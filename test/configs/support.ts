import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import type { Answer, Person, TestServer } from '../support/server.ts';

/** The calls of an administrator to the configuration of a server. */
export interface Administration {
  exported(query?: string): Promise<Configuration>;
  importing(body: unknown, query?: string): Promise<Answer>;
  /** Imports the defaults with changes; fails when the import is refused. */
  configure(change: (configuration: Configuration) => void): Promise<Configuration>;
}

export function administer(server: TestServer, { token }: Person): Administration {
  const importing: Administration['importing'] = (body, query = '') =>
    server.call(`POST /configs/import${query}`, { token, body });
  return {
    importing,
    async exported(query = '') {
      return (await server.call(`GET /configs/export${query}`, { token })).body;
    },
    async configure(change) {
      const configuration = structuredClone(DEFAULT_CONFIGURATION);
      change(configuration);
      const { status, body } = await importing(configuration);
      if (status !== 200) throw new Error(`The import answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
  };
}
