/** A provider's configuration. Secrets are revealed only when they are sent to the provider. */
import type { ModelCapability, ModelPrices } from '../models/model-port.ts';

export const providerKinds = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** A secret that is revealed only at its point of use. */
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
  /** Default: the vendor's URL for the kind. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: Revealed | undefined;
  readonly headers: Readonly<Record<string, Revealed>>;
  readonly maxSilenceMs?: number | undefined;
  readonly models: Readonly<Record<string, KnownModel>>;
}
