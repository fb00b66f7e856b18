/** What a run asks for in its options about models, checked when it is created: what cannot be had is refused then, not in the middle. */
import { type Configurable, quoted, TerminalError } from '@cairn/protocol';
import type { Credentials } from './credentials.ts';
import type { ModelBook } from './model-book.ts';
import { type MockWish, mockPart } from './scripted/mock-providers.ts';

export interface WishWorld {
  readonly book: ModelBook;
  readonly credentials: Credentials;
  /** Keys are test keys: they may put a mock in the place of a model. */
  readonly allowsMocks: boolean;
}

/** Throws `mock_provider_forbidden`, `unsupported_mock_provider`, `credential_forbidden` or `validation_error`. */
export function checkModelWishes(configurable: Configurable, tenant: string, world: WishWorld): void {
  const { mockProvider, 'ai.provider': provider, 'ai.credentialRef': ref } = configurable;
  if (mockProvider !== undefined) {
    if (!world.allowsMocks) throw mockForbidden(mockProvider.id);
    mockPart(mockProvider as MockWish);
  }
  if (provider !== undefined && !world.book.providers.includes(provider)) throw unknownProvider(provider, world.book);
  if (ref === undefined) return;
  const credential = world.credentials.check(ref, tenant);
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

const unknownProvider = (provider: string, { providers }: ModelBook): TerminalError =>
  new TerminalError('validation_error', {
    message: `ai.provider: there is no provider ${quoted(provider, 80)}.`,
    hint: `This host has ${providers.join(', ')}.`,
    details: { parameter: 'configurable["ai.provider"]', supported: providers },
  });
