//! Every statistic against reference values made with arbitrary precision; see `golden/README.md`.

mod golden {
    mod cases;
    mod describe;
    mod designs;
    mod distributions;
    mod effects;
    mod means;
    mod planning;
    mod ranks;
    mod resampling;
    mod robust;
    mod series;
    mod support;
}
