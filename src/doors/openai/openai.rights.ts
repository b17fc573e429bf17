import { recheckRight, watchCaller } from '../../auth/watch.ts';
import type { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { type ResolvedModel, requireStillUsable, resolveModel } from '../../models/models.resolve.ts';

/** The rights of one call of a model, which may take an hour. Rights that the caller loses meanwhile end the call. */
export class CallRights {
  readonly #scope: Scope;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  readonly #unwatch: (() => void)[];
  #model: ResolvedModel | undefined;
  /** Rights have changed before the model was known. */
  #haveChanged = false;

  constructor(scope: Scope) {
    const { bus, actor } = scope;
    this.#scope = scope;
    this.#unwatch = [
      watchCaller(bus, { actorOf: () => actor, recheck: this.#recheck, end: this.#end }),
      bus.subscribe('model.changed', ({ ids }) => {
        if (ids?.some((id) => this.#model?.path.includes(id) ?? true) ?? true) this.#recheck();
      }),
    ];
  }

  /** Fires with the reason when the caller has lost the session, the key or the right to the model. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws model_not_found */
  async resolveModel(id: string): Promise<ResolvedModel> {
    const model = await resolveModel(this.#scope, id);
    this.#model = model;
    if (this.#haveChanged) this.#recheck();
    return model;
  }

  close(): void {
    this.#over.abort();
    for (const unwatch of this.#unwatch) unwatch();
  }

  readonly #end = (failure: AppError): void => this.#lost.abort(failure);

  readonly #recheck = (): void => {
    const model = this.#model;
    if (!model) {
      this.#haveChanged = true;
      return;
    }
    const check = () => requireStillUsable(this.#scope, model);
    void recheckRight(check, { end: this.#end, signal: this.#over.signal });
  };
}
