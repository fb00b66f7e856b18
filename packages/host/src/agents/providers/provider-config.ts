/** A provider as the configuration describes it, with secrets that are only revealed where they leave for it. */
import type { ModelCapability, ModelPrices } from '../models/model-port.ts';

export const providerKinds = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** Something that must not be shown, and can be revealed for the one use it is meant for. */
export interface Revealed {
  reveal(): string;
}

export interface KnownModel {
  readonly prices?: ModelPrices | undefined;
  readonly contextTokens?: number | undefined;
  readonly capabilities?: readonly ModelCapability[] | undefined;
}

export interface ProviderConfig {
  readonly kind: ProviderKind;
  /** Default: where the vendor of the kind serves it. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: Revealed | undefined;
  readonly headers: Readonly<Record<string, Revealed>>;
  readonly maxSilenceMs?: number | undefined;
  readonly models: Readonly<Record<string, KnownModel>>;
}
