import { isCairnError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';

const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' };
const secrets = { k: { value: 'sk-0123456789abcdef' } };

function refusal(config: object): string {
  try {
    parseConfig(config, 'cairn.json');
  } catch (error) {
    if (isCairnError(error, 'config_invalid')) return `${error.message} ${error.hint ?? ''}`;
    throw error;
  }
  throw new Error('it was taken');
}

test('takes models with prices, and credentials of their providers', () => {
  const models = {
    providers: {
      local: {
        ...local,
        models: { qwen3: { prices: { input: 1, output: 2 }, contextTokens: 8192, capabilities: ['function-calling'] } },
      },
    },
    classes: { reasoning: 'local/qwen3', chat: 'scripted/scripted' },
    default: 'local/org/other',
  };
  const credentials = { mine: { provider: 'local', key: { secret: 'k' }, tenants: ['acme'] } };
  const config = parseConfig({ models, credentials, secrets }, 'cairn.json');
  expect(config.models.providers.local?.models.qwen3?.prices).toEqual({ input: 1, output: 2 });
  expect(config.unused).toEqual([]);
  expect(JSON.stringify(config)).not.toContain('sk-0123456789abcdef');
  expect(config.knownSecrets.map(({ name }) => name)).toEqual(['k']);
});

test.each([
  [{ models: { default: 'nobody/x' } }, 'models.default: names the provider "nobody"'],
  [{ models: { default: 'qwen3' } }, 'models.default: "qwen3" must be <provider>/<model>'],
  [{ models: { classes: { chat: 'constructor/x' } } }, 'names the provider "constructor"'],
  [{ models: { providers: { scripted: local } } }, 'models.providers.scripted: is the name of the built-in provider'],
  [
    { models: { providers: { local: { ...local, models: { a: { prices: { input: -1, output: 0 } } } } } } },
    'prices.input',
  ],
  [
    { models: { providers: { local: { ...local, models: { a: { prices: { input: 1 } } } } } } },
    'prices.output: is missing',
  ],
  [
    { models: { providers: { local: { ...local, models: { a: { capabilities: ['tools'] } } } } } },
    'capabilities[0]: "tools"',
  ],
  [
    { credentials: { mine: { provider: 'loca', key: { secret: 'k' } } }, models: { providers: { local } }, secrets },
    'Did you mean "local"?',
  ],
  [
    { credentials: { mine: { provider: 'local', key: { secret: 'x' } } }, models: { providers: { local } } },
    'credentials.mine.key names the secret "x"',
  ],
  [
    { credentials: { mine: { provider: 'local', key: 'sk-0123456789abcdef' } }, models: { providers: { local } } },
    'credentials.mine.key',
  ],
  [
    {
      credentials: { mine: { provider: 'local', key: { secret: 'k' }, tenants: [] } },
      models: { providers: { local } },
      secrets,
    },
    'credentials.mine.tenants',
  ],
])('refuses %j by its place', (config, expected) => {
  expect(refusal(config)).toContain(expected);
});
