/**
 * Builds the models of a host from its configuration: providers, model classes, and the credentials that callers may
 * use.
 */
import { ModelCredentials } from '../../agents/models/credentials.ts';
import { ModelRegistry } from '../../agents/models/model-registry.ts';
import { createProviders } from '../../agents/providers/create-providers.ts';
import type { ProviderConfig } from '../../agents/providers/provider-config.ts';
import type { Clock } from '../../engine/ports.ts';
import type { HostConfig } from '../config/config.ts';
import { resolveHeaders, type Secrets } from '../config/secrets.ts';
import { SecretText } from '../secrets/secret-text.ts';

export interface HostModels {
  readonly registry: ModelRegistry;
  readonly credentials: ModelCredentials;
}

/** Makes no call before the first turn. `fetch` is replaceable for tests. */
export function hostModels(
  config: HostConfig,
  clock: Clock,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): HostModels {
  const { models, secrets } = config;
  const configs = Object.entries(models.providers).map(([name, { apiKey, headers, ...provider }]) => {
    const key = apiKey === undefined ? {} : { apiKey: secretOf(apiKey.secret, secrets) };
    return [name, { ...provider, ...key, headers: resolveHeaders(headers, secrets) } satisfies ProviderConfig] as const;
  });
  const providers = createProviders(Object.fromEntries(configs), { fetch });
  const credentials = Object.entries(config.credentials).map(
    ([ref, { provider, key, tenants }]) =>
      [ref, { provider, key: secretOf(key.secret, secrets), tenants: tenants ?? null }] as const,
  );
  return {
    registry: new ModelRegistry({ providers, classes: models.classes, default: models.default }, clock),
    credentials: new ModelCredentials(new Map(credentials)),
  };
}

/** The configuration check has verified that the name is a known secret. */
const secretOf = (name: string, secrets: Secrets): SecretText => secrets.get(name) ?? new SecretText('');
