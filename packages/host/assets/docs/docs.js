/** The page at /v1/docs: reads this host's OpenAPI document and shows it. Text only ever becomes text nodes, never markup. */

const page = (id) => document.getElementById(id);

/** An element with attributes and children; a text in backticks becomes code. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== ''));
  return element;
}

const prose = (text) => (text ?? '').split('`').map((part, i) => (i % 2 === 1 ? el('code', {}, part) : part));

const schemaName = (schema) => schema?.$ref?.split('/').at(-1) ?? null;
const schemaLink = (name) => el('a', { href: `#schema-${name}` }, name);

/** What a schema takes, in a few words. */
function typeOf(schema) {
  const name = schemaName(schema);
  if (name !== null) return [schemaLink(name)];
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.enum !== undefined) return [schema.enum.map((value) => JSON.stringify(value)).join(' | ')];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap((choice, i) => [i === 0 ? '' : ' | ', ...typeOf(choice)]);
  if (schema.allOf !== undefined) return schema.allOf.flatMap((part, i) => [i === 0 ? '' : ' & ', ...typeOf(part)]);
  if (schema.type === 'array') return ['list of ', ...typeOf(schema.items ?? {})];
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && schema.properties === undefined) {
    return ['map of ', ...typeOf(schema.additionalProperties)];
  }
  return [`${[schema.type ?? 'anything'].flat().join(' | ')}${boundsOf(schema)}`];
}

function boundsOf({ minimum, maximum, minLength, maxLength, format, default: preset }) {
  const isWide = (bound) => bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER;
  const range = (low, high, what) => {
    if (isWide(low) && isWide(high)) return [];
    if (isWide(high)) return [`at least ${low}${what}`];
    return [isWide(low) ? `at most ${high}${what}` : `${low} to ${high}${what}`];
  };
  const said = [
    ...(format === undefined ? [] : [format]),
    ...range(minimum, maximum, ''),
    ...range(minLength > 1 ? minLength : undefined, maxLength, ' characters'),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ];
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}

/** Rows for the properties of a schema; nested objects without a name of their own are indented below theirs. */
function propertyRows(schema, depth = 0) {
  const inner = schema.type === 'array' ? (schema.items ?? {}) : schema;
  const required = new Set(inner.required ?? []);
  return Object.entries(inner.properties ?? {}).flatMap(([name, property]) => [
    row(name, property, required.has(name), depth),
    ...(schemaName(property) === null && depth < 4 ? propertyRows(property, depth + 1) : []),
  ]);
}

const row = (name, schema, isRequired, depth = 0) =>
  el(
    'tr',
    {},
    el(
      'td',
      {},
      depth === 0 ? '' : el('span', { class: 'indent' }, `${'· '.repeat(depth)}`),
      el('code', {}, name),
      isRequired ? el('span', { class: 'must' }, 'required') : '',
    ),
    el('td', { class: 'type' }, typeOf(schema)),
    el('td', {}, prose(schema.description)),
  );

/** A table of what a schema holds, or a line that says what it is. */
function schemaView(schema, components) {
  const name = schemaName(schema);
  const rows = propertyRows(name === null ? schema : components[name]);
  const title = name === null ? [] : [el('p', {}, schemaLink(name))];
  if (rows.length === 0) return name === null ? [el('p', {}, typeOf(schema))] : title;
  return [...title, el('table', {}, el('tbody', {}, rows))];
}

/** A value that fits the schema: what must be there, and where there is a choice the first. */
function sampleOf(schema, components, depth = 0) {
  const name = schemaName(schema);
  if (name !== null) return depth > 6 ? {} : sampleOf(components[name] ?? {}, components, depth + 1);
  if (schema.examples?.length > 0) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (first !== undefined) return sampleOf(first, components, depth + 1);
  if (schema.properties !== undefined) return sampleObject(schema, components, depth);
  const plain = { object: {}, array: [], integer: schema.minimum > 0 ? schema.minimum : 0, number: 0, boolean: true };
  return plain[schema.type] ?? '…';
}

function sampleObject({ properties, required = [] }, components, depth) {
  const names = Object.keys(properties).filter((name) => required.includes(name));
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], components, depth + 1)]));
}

/** Single quotes of a shell; a quote inside is closed, escaped and opened again. */
const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A body to send: an example of the shape itself, which a fresh host accepts, or that of the operation. */
function bodyOf({ schema, example }, components) {
  const { examples } = components[schemaName(schema)] ?? schema;
  return examples?.[0] ?? example ?? sampleOf(schema, components);
}

function curlOf({ method, path, operation }, components) {
  const body = operation.requestBody?.content['application/json'];
  const isStream = Object.values(operation.responses).some(({ content }) => content?.['text/event-stream']);
  const needed = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = needed.map(({ name, schema }) => `${name}=${encodeURIComponent(sampleOf(schema, components))}`);
  const url = `${location.origin}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${isStream ? '-N ' : ''}${shellQuoted(url)}`,
    ...(operation.security.length === 0 ? [] : ['-H "Authorization: Bearer $CAIRN_KEY"']),
    ...(isStream ? ["-H 'Accept: text/event-stream'"] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${shellQuoted(JSON.stringify(bodyOf(body, components)))}`]),
  ].join(' \\\n  ');
}

function codeBlock(text) {
  const code = el('pre', { tabindex: '0' }, text);
  const button = el('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    button.textContent = (await copied(text, code)) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  return el('div', { class: 'code' }, code, button);
}

/** Browsers give the clipboard only to secure pages; elsewhere the text is selected, for the reader to copy. */
async function copied(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}

function parametersOf(operation, shared) {
  const parameters = (operation.parameters ?? []).map(
    (parameter) => shared[parameter.$ref?.split('/').at(-1)] ?? parameter,
  );
  return ['path', 'query', 'header'].flatMap((place) => {
    const rows = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, required, description }) => row(name, { ...schema, description }, required === true));
    if (rows.length === 0) return [];
    return [el('h4', {}, `In the ${place}`), el('table', {}, el('tbody', {}, rows))];
  });
}

function responsesOf(operation) {
  const rows = Object.entries(operation.responses).map(([status, { description, content = {} }]) => {
    const [type, { schema } = {}] = Object.entries(content)[0] ?? [];
    const name = schemaName(schema);
    const shown = name !== null ? schemaLink(name) : (type ?? '');
    return el(
      'tr',
      {},
      el('td', {}, el('code', {}, status)),
      el('td', { class: 'type' }, shown),
      el('td', {}, prose(description)),
    );
  });
  return [el('h4', {}, 'Answers'), el('table', {}, el('tbody', {}, rows))];
}

function operationView(entry, api) {
  const { method, path, operation } = entry;
  const schemas = api.components.schemas;
  const [scope] = operation.security.flatMap((needed) => needed.bearer ?? []);
  const body = operation.requestBody;
  return el(
    'article',
    { id: operation.operationId },
    el(
      'h3',
      {},
      el('span', { class: `method ${method}` }, method.toUpperCase()),
      el('a', { class: 'path', href: `#${operation.operationId}` }, path),
      el('span', { class: 'need' }, scope === undefined ? 'no key needed' : ['scope ', el('code', {}, scope)]),
    ),
    el('p', {}, prose(operation.summary), '.'),
    codeBlock(curlOf(entry, schemas)),
    parametersOf(operation, api.components.parameters ?? {}),
    body === undefined
      ? []
      : [
          el('h4', {}, body.required ? 'Body' : 'Body, may be left out'),
          ...schemaView(body.content['application/json'].schema, schemas),
        ],
    responsesOf(operation),
  );
}

const schemaArticle = (name, schema, schemas) =>
  el(
    'article',
    { id: `schema-${name}` },
    el('h3', {}, el('a', { class: 'path', href: `#schema-${name}` }, name)),
    schemaView(schema, schemas),
    el('details', {}, el('summary', {}, 'JSON Schema'), codeBlock(JSON.stringify(schema, null, 2))),
  );

/** Groups of what can be found: each entry has a link, a view and the text that a search looks at. */
function groupsOf(api) {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = api.tags.map(({ name }) => ({
    name,
    entries: operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map((entry) => ({
        link: el(
          'a',
          { href: `#${entry.operation.operationId}`, title: entry.path },
          el('span', { class: `method ${entry.method}` }, entry.method.toUpperCase()),
          entry.operation.summary,
        ),
        view: operationView(entry, api),
        text: `${entry.method} ${entry.path} ${entry.operation.summary} ${entry.operation.operationId}`.toLowerCase(),
      })),
  }));
  const schemas = Object.entries(api.components.schemas).map(([name, schema]) => ({
    link: el('a', { href: `#schema-${name}` }, name),
    view: schemaArticle(name, schema, api.components.schemas),
    text: name.toLowerCase(),
  }));
  return [...groups, { name: 'Schemas', entries: schemas }];
}

function show(api) {
  document.title = `${api.info.title} API`;
  page('version').textContent = api.info.version;
  const groups = groupsOf(api).map((group) => ({
    ...group,
    heading: el('h2', { class: 'group' }, group.name),
    list: el(
      'section',
      {},
      el('h2', {}, group.name),
      el(
        'ul',
        {},
        group.entries.map(({ link }) => el('li', {}, link)),
      ),
    ),
  }));
  page('nav').append(...groups.map(({ list }) => list));
  page('content').append(
    el('p', { id: 'about' }, prose(api.info.description)),
    ...groups.flatMap(({ heading, entries }) => [heading, ...entries.map(({ view }) => view)]),
  );
  find(groups);
  if (location.hash.length > 1) page(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

/** Every word of the search must be somewhere in an entry; groups without one disappear. */
function find(groups) {
  const search = page('search');
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { heading, list, entries } of groups) {
      const found = entries.filter(({ text, link, view }) => {
        const fits = words.every((word) => text.includes(word));
        link.parentElement.hidden = !fits;
        view.hidden = !fits;
        return fits;
      });
      heading.hidden = found.length === 0;
      list.hidden = found.length === 0;
      count += found.length;
    }
    page('state').textContent = words.length === 0 ? '' : `${count} found.`;
  };
  search.addEventListener('input', filter);
  filter();
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
}

function themes() {
  const root = document.documentElement;
  const kept = localStorage.getItem('cairn-theme');
  if (kept !== null) root.dataset.theme = kept;
  page('theme').addEventListener('click', () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    localStorage.setItem('cairn-theme', root.dataset.theme);
  });
}

themes();
try {
  const response = await fetch('./openapi.json');
  if (!response.ok) throw new Error(`the host answered ${response.status}`);
  show(await response.json());
} catch (error) {
  page('state').textContent = `The description of this host could not be shown: ${error.message}.`;
}
