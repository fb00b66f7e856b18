/** Validates a run's model options when the run is created, so that it does not fail later. */
import { type Configurable, quoted, TerminalError } from '@cairn/protocol';
import type { ModelCredentials } from './credentials.ts';
import type { ModelRegistry } from './model-registry.ts';
import { type MockChoice, mockPart } from './scripted/mock-providers.ts';

export interface ModelAccess {
  readonly registry: ModelRegistry;
  readonly credentials: ModelCredentials;
  /** The API keys are test keys, which may replace a model with a mock. */
  readonly allowsMocks: boolean;
}

/** Throws `mock_provider_forbidden`, `unsupported_mock_provider`, `credential_forbidden` or `validation_error`. */
export function checkRunModelOptions(configurable: Configurable, tenant: string, access: ModelAccess): void {
  const { mockProvider, 'ai.provider': provider, 'ai.credentialRef': ref } = configurable;
  if (mockProvider !== undefined) {
    if (!access.allowsMocks) throw mockForbidden(mockProvider.id);
    mockPart(mockProvider as MockChoice);
  }
  if (provider !== undefined && !access.registry.providers.includes(provider))
    throw unknownProvider(provider, access.registry);
  if (ref === undefined) return;
  const credential = access.credentials.check(ref, tenant);
  if (provider === undefined || provider === credential.provider) return;
  throw new TerminalError('credential_forbidden', {
    message: `The credential ${quoted(ref, 80)} is for ${credential.provider}, and the run asks for ${quoted(provider, 80)}.`,
    hint: `Ask for ai.provider ${quoted(credential.provider)}, or leave the credential out.`,
  });
}

const mockForbidden = (id: string): TerminalError =>
  new TerminalError('mock_provider_forbidden', {
    message: `This key may not put the mock provider ${quoted(id, 80)} in the place of a model.`,
    hint: 'Leave configurable.mockProvider out.',
  });

const unknownProvider = (provider: string, { providers }: ModelRegistry): TerminalError =>
  new TerminalError('validation_error', {
    message: `ai.provider: there is no provider ${quoted(provider, 80)}.`,
    hint: `This host has ${providers.join(', ')}.`,
    details: { parameter: 'configurable["ai.provider"]', supported: providers },
  });
