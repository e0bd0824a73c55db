/* Start: read the data, make the page, follow the address. */

function listenBar(app) {
    for (const button of document.querySelectorAll('[data-view][role=radio]'))
        button.addEventListener('click', () => app.setView(button.dataset.view));
    $('theme').addEventListener('click', () => app.toggleTheme());
    $('nav-toggle').addEventListener('click', () => app.toggleNav());
    $('copy-link').addEventListener('click', () => app.copyLink());
    $('help-button').addEventListener('click', () => toggleHelp(KEYS, HELP_NOTE));
    $('hottest').addEventListener('click', () => app.hottest());
    $('find-prev').addEventListener('click', () => app.stepHit(-1));
    $('find-next').addEventListener('click', () => app.stepHit(1));
    const find = debounce(() => app.find($('find').value), 80);
    $('find').addEventListener('input', find);
    $('find').addEventListener('keydown', event => {
        if (event.key !== 'Enter')
            return;
        event.preventDefault();
        if ($('find').value !== app.state.query)
            app.find($('find').value);
        else
            app.stepHit(event.shiftKey ? -1 : 1);
    });
}

function start() {
    const module = new Module(object(JSON.parse($('data').textContent)));
    $('module-name').textContent = baseName(module.name);
    $('module-name').dataset.tip = module.name;
    const app = new App(module);
    listenBar(app);
    listenKeys(app);
    listenGoto(app);
    listenTips();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => app.repaint());
    window.addEventListener('hashchange', () => {
        if (location.hash !== app.loaded && !inRecording())
            app.load(location.hash);
    });
    app.load(location.hash);
    app.main.scroller.focus({preventScroll: true});
    if (typeof startRecording === 'function')
        startRecording(app);
}

try {
    start();
} catch (error) {
    // the listing under the page can be read all the same
    document.documentElement.classList.remove('js');
    const note = el('p.note', `The interactive view could not be shown: ${error.message}`);
    $('plain').prepend(note);
    console.error(error);
}
