// SPDX-License-Identifier: Apache-2.0
// A choice of two or three as a row of buttons under one label: which one holds is pressed.

interface SwitchProps<T extends string> {
  label: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

export function Switch<T extends string>(props: SwitchProps<T>) {
  return (
    <div class="switch" role="group" aria-label={props.label}>
      <span class="switch-label" aria-hidden="true">
        {props.label}
      </span>
      {props.choices.map(([value, words]) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {words}
        </button>
      ))}
    </div>
  );
}
