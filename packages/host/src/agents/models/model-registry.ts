/**
 * Selects the model of a turn, deterministically. Precedence: run options, node config, the agent's model class, the
 * default.
 */
import { quoted, TerminalError } from '@cairn/protocol';
import type { Clock } from '../../engine/ports.ts';
import { ModelError } from './model-error.ts';
import type { Model } from './model-port.ts';
import { peerModel } from './peer-model.ts';
import { mockModel } from './scripted/mock-providers.ts';
import { readScript } from './scripted/script.ts';
import { SCRIPTED, scriptedModel } from './scripted/scripted-model.ts';
import type { ModelRequest, ModelSelection } from './turn.ts';

/** A provider from the configuration. */
export interface Provider {
  /** Its name in the configuration. */
  readonly name: string;
  /** Models listed in the configuration, in that order. */
  readonly listed: readonly string[];
  /** Accepts any model id: providers serve more models than the configuration lists. */
  model(id: string): Model;
}

export interface ModelChoices {
  readonly providers: ReadonlyMap<string, Provider>;
  /** `<provider>/<model>` by model class. */
  readonly classes: Readonly<Partial<Record<string, string>>>;
  readonly default?: string | undefined;
}

/** The criteria for selecting a model. */
export interface WantedModel {
  readonly selection: ModelSelection;
  readonly rehearsal?: ModelRequest['rehearsal'] | undefined;
  readonly mock?: ModelRequest['mock'] | undefined;
  readonly peer?: ModelRequest['peer'] | undefined;
}

export interface ChosenModel {
  readonly provider: string;
  readonly model: string;
  /** Whether the model's prices are known. */
  readonly isPriced: boolean;
}

interface ResolvedModel {
  readonly provider: string;
  readonly model: string;
}

export class ModelRegistry {
  readonly #choices: ModelChoices;
  readonly #clock: Clock;
  readonly #scripted = new WeakMap<object, Model>();

  constructor(choices: ModelChoices, clock: Clock) {
    this.#choices = choices;
    this.#clock = clock;
  }

  /** The provider names that a run may request. */
  get providers(): readonly string[] {
    return [...this.#choices.providers.keys(), SCRIPTED];
  }

  /**
   * Selects the model of a turn without I/O, and reports whether its prices are known.
   * Throws `model_not_configured` when there is none.
   */
  choose(wanted: WantedModel): ChosenModel {
    const { provider, model, prices } = this.find(wanted);
    return { provider, model, isPriced: prices !== null };
  }

  /** Resolves a selection to a provider and a model. */
  #resolve(selection: ModelSelection, hasRehearsal: boolean): ResolvedModel {
    const { classes, default: usual } = this.#choices;
    const asked = this.#asked(selection);
    if (asked !== null) return asked;
    const configured = classes[selection.modelClass] ?? usual;
    if (configured !== undefined) return split(configured);
    if (hasRehearsal) return { provider: SCRIPTED, model: SCRIPTED };
    throw notConfigured(`No model is configured for the class ${selection.modelClass}, and there is no default`);
  }

  find({ selection, rehearsal, mock, peer }: WantedModel): Model {
    // No configured model can act in the name of a peer.
    if (peer !== undefined) return peerModel(peer);
    if (mock !== undefined) return mockModel(mock, this.#clock);
    const { provider, model } = this.#resolve(selection, rehearsal !== undefined);
    if (provider === SCRIPTED) return this.#rehearsed(rehearsal);
    const found = this.#choices.providers.get(provider);
    if (found !== undefined) return found.model(model);
    throw notConfigured(`There is no provider ${quoted(provider, 80)}`);
  }

  /** The provider and model that the selection names; null when it names neither. */
  #asked({ provider, model, modelClass }: ModelSelection): ResolvedModel | null {
    if (provider === SCRIPTED || model === SCRIPTED) return { provider: SCRIPTED, model: SCRIPTED };
    if (provider !== undefined && model !== undefined) return { provider, model: withoutPrefix(model, provider) };
    if (provider !== undefined) return { provider, model: this.#modelOf(provider, modelClass) };
    return model === undefined ? null : this.#providerOf(model);
  }

  /**
   * Resolves a provider without a model: the class's or default model if this provider serves it, else the first it
   * lists.
   */
  #modelOf(provider: string, modelClass: string): string {
    const { providers, classes, default: usual } = this.#choices;
    const configured = [classes[modelClass], usual].flatMap((name) => (name === undefined ? [] : [split(name)]));
    const fitting = configured.find((choice) => choice.provider === provider)?.model;
    const model = fitting ?? providers.get(provider)?.listed[0];
    if (model !== undefined) return model;
    throw notConfigured(
      `The provider ${quoted(provider, 80)} was asked for without a model, and none of it is configured`,
    );
  }

  /**
   * Resolves a model without a provider: by its name prefix, by the provider that lists it, or by the only provider.
   */
  #providerOf(model: string): ResolvedModel {
    const { providers } = this.#choices;
    const named = split(model);
    if (providers.has(named.provider)) return named;
    const only = providers.size === 1 ? [...providers.values()] : [];
    const [found] = [...[...providers.values()].filter(({ listed }) => listed.includes(model)), ...only];
    if (found !== undefined) return { provider: found.name, model };
    throw notConfigured(
      `The model ${quoted(model, 120)} was asked for, and which provider serves it is not configured`,
    );
  }

  /** Parses a rehearsal once: a pack uses one object for all its turns. */
  #rehearsed(rehearsal: ModelRequest['rehearsal']): Model {
    if (typeof rehearsal !== 'object' || rehearsal === null) {
      throw notConfigured('The scripted model was asked for, and the agent has no rehearsal');
    }
    const known = this.#scripted.get(rehearsal);
    if (known !== undefined) return known;
    const read = readScript(rehearsal);
    if ('problems' in read) {
      const message = `The rehearsal of the agent is no script: ${read.problems.join('; ')}.`;
      throw new ModelError('invalid_request', { message });
    }
    const model = scriptedModel({ script: read.script, clock: this.#clock });
    this.#scripted.set(rehearsal, model);
    return model;
  }
}

function split(name: string): ResolvedModel {
  const at = name.indexOf('/');
  return at === -1 ? { provider: '', model: name } : { provider: name.slice(0, at), model: name.slice(at + 1) };
}

const withoutPrefix = (model: string, provider: string): string =>
  model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;

const notConfigured = (what: string): TerminalError =>
  new TerminalError('model_not_configured', {
    message: `${what}.`,
    hint: 'Add the provider, the class or a default to "models" of the configuration.',
  });
