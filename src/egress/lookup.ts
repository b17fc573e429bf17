import { lookup as askMachine, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { AppError } from '../core/errors.ts';
import { isNotPublic, withoutRoot } from './addresses.ts';
import type { Reachable } from './allowed.ts';

const RESOLVE = { timeout: 2_000, tries: 2 };

interface Reach {
  listed: Reachable;
  hasAddress: (address: string) => boolean;
  resolve: (host: string) => Promise<string[]>;
}

/** The look-up of a connection: refuses a name when one of its addresses may not be connected to. */
export function lookupWith({ listed, hasAddress, resolve }: Reach): LookupFunction {
  return (host, options, callback) => {
    const name = withoutRoot(host);
    const isListed = listed.hasName(name);
    const may = isListed ? listed.mayBeNamed : hasAddress;
    (isListed ? askThisMachine : resolve)(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (!first) callback(notFound(host), '');
        else if (!addresses.every(may)) callback(isNotPublic(host), '');
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      () => callback(notFound(host), ''),
    );
  };
}

const notFound = (host: string) =>
  new AppError('upstream_failed', { detail: `The name ${host} could not be found.` });

/**
 * Not `dns.lookup`: it blocks one of the few threads for files until the name server answers. The hosts file and the search
 * domains of the machine name no public servers.
 */
export async function askNameServers(host: string): Promise<string[]> {
  const resolver = new Resolver(RESOLVE);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Resolves a listed name as other programs of the machine do: by its hosts file, search domains and name servers. */
const askThisMachine = async (host: string): Promise<string[]> =>
  (await askMachine(host, { all: true })).map(({ address }) => address);
