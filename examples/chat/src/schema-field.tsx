/** One field of a form: a text, a number, a choice, a list of texts, a group; anything else as JSON. */
import { useId, useState } from 'react';
import { type Json, type Schema, widgetOf } from './schema.ts';

export interface FieldProps {
  readonly schema: Schema;
  /** Empty for the answer as a whole. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly depth: number;
  readonly value: Json | undefined;
  /** Undefined: nothing was typed in. */
  readonly onChange: (value: Json | undefined) => void;
}

export function Field(props: FieldProps) {
  const { schema, name, depth } = props;
  const widget = widgetOf(schema, depth);
  if (widget === 'group') return <Group {...props} />;
  return <Labelled {...props} label={schema.title ?? (name === '' ? 'Your answer' : wordsOf(name))} widget={widget} />;
}

/** `firstName` and `first_name` are read as "First name". */
function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

function Group({ schema, name, depth, value, onChange }: FieldProps) {
  const values = valuesOf(value);
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => (
    <Field
      key={key}
      schema={field}
      name={key}
      isRequired={schema.required?.includes(key) ?? false}
      depth={depth + 1}
      value={values[key]}
      onChange={(one) => {
        const { [key]: _old, ...others } = values;
        onChange(one === undefined ? others : { ...others, [key]: one });
      }}
    />
  ));
  if (name === '') return fields;
  return (
    <fieldset>
      <legend>{schema.title ?? wordsOf(name)}</legend>
      {fields}
    </fieldset>
  );
}

/** Undefined and lists have no fields. */
const valuesOf = (value: Json | undefined): Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

interface LabelledProps extends FieldProps {
  readonly label: string;
  readonly widget: Exclude<ReturnType<typeof widgetOf>, 'group'>;
}

function Labelled(props: LabelledProps) {
  const { label, widget, schema } = props;
  const id = useId();
  return (
    <div className="field" data-widget={widget}>
      <label htmlFor={id}>{label}</label>
      <Widget {...props} id={id} />
      {schema.description !== undefined && <small id={`${id}-hint`}>{schema.description}</small>}
    </div>
  );
}

function Widget({ id, widget, schema, isRequired, value, onChange }: LabelledProps & { readonly id: string }) {
  const common = {
    id,
    required: isRequired,
    ...(schema.description !== undefined && { 'aria-describedby': `${id}-hint` }),
  };
  const text = value === undefined ? '' : String(value);
  const onText = (typed: string) => onChange(typed === '' && !isRequired ? undefined : typed);
  switch (widget) {
    case 'select':
      return <Select {...common} schema={schema} value={value} onChange={onChange} />;
    case 'check':
      // A box that must be ticked would be no question.
      return (
        <input id={id} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
      );
    case 'number':
      return (
        <input
          {...common}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      );
    case 'lines':
      return (
        <textarea
          {...common}
          rows={3}
          placeholder="One on each line"
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={({ target }) => onChange(target.value === '' ? [] : target.value.split('\n'))}
        />
      );
    case 'area':
      return <textarea {...common} rows={4} value={text} onChange={({ target }) => onText(target.value)} />;
    case 'text':
      return (
        <input
          {...common}
          type={inputTypes[schema.format ?? ''] ?? 'text'}
          minLength={schema.minLength}
          maxLength={schema.maxLength}
          value={text}
          onChange={({ target }) => onText(target.value)}
        />
      );
    case 'json':
      return <JsonBox {...common} value={value} onChange={onChange} />;
  }
}

const inputTypes: Readonly<Record<string, string>> = { date: 'date', email: 'email', uri: 'url', time: 'time' };

type InnerProps = Pick<FieldProps, 'value' | 'onChange'> & { readonly id: string; readonly required: boolean };

function Select({ schema, value, onChange, ...common }: InnerProps & { readonly schema: Schema }) {
  const values = schema.enum ?? [];
  const at = value === undefined ? -1 : values.indexOf(value);
  return (
    <select
      {...common}
      value={at === -1 ? '' : at}
      onChange={({ target }) => onChange(target.value === '' ? undefined : values[Number(target.value)])}
    >
      <option value="">Choose…</option>
      {values.map((one, index) => (
        <option key={String(one)} value={index}>
          {String(one)}
        </option>
      ))}
    </select>
  );
}

function JsonBox({ value, onChange, ...common }: InnerProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  return (
    <textarea
      {...common}
      rows={4}
      placeholder="JSON"
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const parsed = parsedJson(target.value);
        // The browser says so under the field, and keeps the form from being sent.
        target.setCustomValidity(parsed === null ? 'This is not valid JSON.' : '');
        if (parsed !== null) onChange(parsed.value);
      }}
    />
  );
}

function parsedJson(text: string): { readonly value: Json | undefined } | null {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
