import type { appRouter } from '../../src/router.ts';
import type { InputsOf, Mutation, OutputsOf, Query, Subscription } from './procedures.ts';

// This is the type of an inferred constant because the compiler writes such a type out in full: the published
// declarations then stand on their own, without the server's sources, its libraries, or tRPC. Nothing loads this file at
// run time. For the same reason no alias below may itself name an object type: the alias would be written, not the type.
const api = publish<typeof appRouter>();

/** Every procedure of the service, by noun: `api.channels.create.mutate({ name })`, `api.channels.list.query()`. */
export type Api = typeof api;

/** The input of each procedure: `Inputs['channels']['create']`. */
export type Inputs = InputsOf<Api>;
/** The output of each procedure: `Outputs['tools']['invoke']`. */
export type Outputs = OutputsOf<Api>;

declare function publish<Router>(): Router extends { _def: { record: infer Nouns } }
  ? Published<Nouns>
  : never;

type Published<Entry> = Entry extends {
  _def: { type: infer Type; $types: { input: infer Input; output: infer Output } };
}
  ? Type extends 'query'
    ? Query<Input, Output>
    : Type extends 'mutation'
      ? Mutation<Input, Output>
      : Subscription<Input, ItemOf<Output>>
  : Entry extends object
    ? { [Name in keyof Entry]: Published<Entry[Name]> }
    : never;

type ItemOf<Output> =
  Output extends AsyncIterable<infer Item>
    ? Item extends { id: string; data: infer Data }
      ? { id: string; data: Sent<Data> }
      : Item
    : never;

/** The type that a client receives for a value that the server stores as JSON text. */
type Sent<Data> = Data extends { toJSON(): infer Value } ? Value : Data;
