/**
 * A frame without `allow-forms` drops a submission before its `submit` event (HTML, form submission algorithm, step 3).
 * Nothing may be sent anyway, so the event alone is what an app needs: it is fired here for a press of a submit button
 * and for Enter in a field, where the form is valid.
 */
export function submitForms(document: Document): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button, input') : null;
    if (event.defaultPrevented || !isSubmit(button) || !button.form) return;
    event.preventDefault();
    submit(button.form, button);
  });
}

function isSubmit(element: Element | null): element is HTMLButtonElement | HTMLInputElement {
  return (
    (element instanceof HTMLButtonElement && element.type === 'submit') ||
    (element instanceof HTMLInputElement && (element.type === 'submit' || element.type === 'image'))
  );
}

function submit(form: HTMLFormElement, submitter: HTMLElement): void {
  const isChecked = !form.noValidate && !(submitter as HTMLButtonElement).formNoValidate;
  if (isChecked && !form.reportValidity()) return;
  form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true, submitter }));
}
